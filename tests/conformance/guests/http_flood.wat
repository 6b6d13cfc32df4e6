;; Sends for ever, whatever it is told.
(import "switchboard:connector/http@1.0.0" "send" (func $send (param i32 i32)))
;;prelude
(data (i32.const 1100) "GET")
(data (i32.const 1110) "http://10.0.0.1/")
(func $fetch (type $call)
  (i32.store (i32.const 1200) (i32.const 1100))
  (i32.store (i32.const 1204) (i32.const 3))
  (i32.store (i32.const 1208) (i32.const 1110))
  (i32.store (i32.const 1212) (i32.const 16))
  (loop $again
    (call $send (i32.const 1200) (i32.const 1300))
    (global.set $top (i32.const 4096))
    (br $again))
  unreachable)
