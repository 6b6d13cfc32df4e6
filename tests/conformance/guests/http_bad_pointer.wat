;; Passes a request whose URL lies outside of its memory.
(import "switchboard:connector/http@1.0.0" "send" (func $send (param i32 i32)))
;;prelude
(func $fetch (type $call)
  (i32.store (i32.const 1208) (i32.const -1000))
  (i32.store (i32.const 1212) (i32.const 100000))
  (call $send (i32.const 1200) (i32.const 1300))
  (call $ok (i32.const 1024) (i32.const 2)))
