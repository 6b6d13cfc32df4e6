;; Says that its answer is 1 GiB long.
;;prelude
(func $fetch (type $call) (call $ok (i32.const 1024) (i32.const 1073741824)))
