;; Logs lines of 1 MiB for ever.
(import "switchboard:connector/log@1.0.0" "log" (func $log (param i32 i32 i32 i32 i32 i32)))
;;prelude
(func $fetch (type $call)
  (drop (memory.grow (i32.const 17)))
  (memory.fill (i32.const 65536) (i32.const 120) (i32.const 1048576))
  (loop $again
    (call $log (i32.const 1024) (i32.const 2) (i32.const 65536) (i32.const 1048576) (i32.const 0) (i32.const 0))
    (br $again))
  unreachable)
