;; Never returns.
;;prelude
(func $fetch (type $call) (loop $again (br $again)) unreachable)
