;; Fails with a code that the contract does not have.
;;prelude
(data (i32.const 1100) "on-fire")
(data (i32.const 1110) "the provider said: <b>stack trace</b>")
(func $fetch (type $call) (call $err (i32.const 1100) (i32.const 7) (i32.const 1110) (i32.const 37)))
