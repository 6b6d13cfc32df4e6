;; Answers a result that is neither ok nor err.
;;prelude
(func $fetch (type $call)
  (local $r i32)
  (local.set $r (call $ok (i32.const 1024) (i32.const 2)))
  (i32.store8 (local.get $r) (i32.const 7))
  (local.get $r))
