;; Says why, then stops, as a panic does.
(import "switchboard:connector/log@1.0.0" "log" (func $log (param i32 i32 i32 i32 i32 i32)))
;;prelude
(data (i32.const 1100) "error")
(data (i32.const 1110) "panicked at src/calendar.rs:7")
(func $map_event
  (call $log (i32.const 1100) (i32.const 5) (i32.const 1110) (i32.const 29) (i32.const 0) (i32.const 0))
  unreachable)
(func $fetch (type $call) (call $map_event) (call $ok (i32.const 1024) (i32.const 2)))
