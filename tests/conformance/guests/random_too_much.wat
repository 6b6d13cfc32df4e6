;; Asks for more random bytes at once than there are.
(import "switchboard:connector/random@1.0.0" "bytes" (func $bytes (param i32 i32)))
;;prelude
(func $fetch (type $call)
  (call $bytes (i32.const 100000000) (i32.const 1200))
  (call $ok (i32.const 1024) (i32.const 2)))
