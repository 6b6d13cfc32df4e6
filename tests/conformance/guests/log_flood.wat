;; Logs for ever.
(import "switchboard:connector/log@1.0.0" "log" (func $log (param i32 i32 i32 i32 i32 i32)))
;;prelude
(data (i32.const 1100) "all work and no play\u{1b}[31m\0aERROR forged")
(func $fetch (type $call)
  (loop $again
    (call $log (i32.const 1100) (i32.const 4) (i32.const 1100) (i32.const 37) (i32.const 0) (i32.const 0))
    (br $again))
  unreachable)
