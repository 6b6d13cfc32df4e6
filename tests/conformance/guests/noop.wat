;; The smallest connector: answers `{}`. Also the neighbour whose calls must not suffer, and the subject of the benchmark.
;;prelude
(func $fetch (type $call) (call $ok (i32.const 1024) (i32.const 2)))
