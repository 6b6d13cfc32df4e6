;; Reads outside of its memory.
;;prelude
(func $fetch (type $call) (i32.load (i32.const -4)))
