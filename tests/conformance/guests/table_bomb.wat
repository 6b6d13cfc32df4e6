;; Grows a table until it is refused.
;;prelude
(table $t 1 funcref)
(func $fetch (type $call)
  (loop $again
    (br_if $again (i32.ne (table.grow $t (ref.null func) (i32.const 1000)) (i32.const -1))))
  unreachable)
