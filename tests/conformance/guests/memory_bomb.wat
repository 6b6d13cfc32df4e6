;; Takes memory, and touches it, until it is refused.
;;prelude
(func $fetch (type $call)
  (local $old i32)
  (loop $again
    (local.set $old (memory.grow (i32.const 16)))
    (if (i32.eq (local.get $old) (i32.const -1)) (then unreachable))
    (memory.fill (i32.mul (local.get $old) (i32.const 65536)) (i32.const 1) (i32.const 1048576))
    (br $again))
  unreachable)
