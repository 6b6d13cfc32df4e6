;; Answers arrays in arrays, 60,000 deep.
;;prelude
(func $fetch (type $call)
  (drop (memory.grow (i32.const 2)))
  (memory.fill (i32.const 65536) (i32.const 91) (i32.const 60000))
  (memory.fill (i32.const 125536) (i32.const 93) (i32.const 60000))
  (call $ok (i32.const 65536) (i32.const 120000)))
