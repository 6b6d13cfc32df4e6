;; Answers bytes that are no UTF-8.
;;prelude
(data (i32.const 1100) "\22\ff\fe\22")
(func $fetch (type $call) (call $ok (i32.const 1100) (i32.const 4)))
