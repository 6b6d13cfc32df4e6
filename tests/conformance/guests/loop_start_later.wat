;; Behaves while it is tried, and never starts once the clock shows the year 2100.
(import "switchboard:connector/clock@1.0.0" "now-ms" (func $now (result i64)))
;;prelude
(func $start
  (if (i64.gt_u (call $now) (i64.const 4102444800000)) (then (loop $again (br $again)))))
(start $start)
(func $fetch (type $call) (call $ok (i32.const 1024) (i32.const 2)))
