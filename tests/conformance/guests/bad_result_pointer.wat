;; Says that its result lies outside of its memory.
;;prelude
(func $fetch (type $call) (i32.const -16))
