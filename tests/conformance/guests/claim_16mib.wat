;; Really has 16 MiB to answer, twice what one step may hand over.
;;prelude
(func $fetch (type $call)
  (drop (memory.grow (i32.const 256)))
  (memory.fill (i32.const 65536) (i32.const 32) (i32.const 16777216))
  (call $ok (i32.const 65536) (i32.const 16777216)))
