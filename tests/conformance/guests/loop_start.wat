;; Never starts.
;;prelude
(func $start (loop $again (br $again)))
(start $start)
(func $fetch (type $call) (call $ok (i32.const 1024) (i32.const 2)))
