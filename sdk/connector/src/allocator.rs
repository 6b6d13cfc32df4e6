//! The allocator of a component. Mapping a provider's data makes and drops small texts by the hundred thousand, and a general
//! allocator took a seventh of a call. Here a small block goes to, and comes from, a list of blocks of its size; such blocks are
//! cut from chunks that talc gives, like everything larger. Chunks are not given back: the memory lives as long as the call.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::null_mut;

use talc::wasm::{WasmDynamicTalc, new_wasm_dynamic_allocator};

/// Sizes are rounded up to this, which is also the alignment of all blocks.
const ALIGNMENT_BYTES: usize = 16;
/// Larger blocks, and those with another alignment, are talc's.
const LARGEST: usize = 512;
/// Bytes that one request to talc takes.
const CHUNK: usize = 32 << 10;

/// Free blocks by size, and what is left of the newest chunk.
struct Lists {
    /// The first free block of each size; a free block begins with the address of the next.
    free: [*mut u8; LARGEST / ALIGNMENT_BYTES + 1],
    next: *mut u8,
    left: usize,
}

pub struct Allocator {
    large: WasmDynamicTalc,
    small: UnsafeCell<Lists>,
}

// A component has one thread.
unsafe impl Sync for Allocator {}

#[global_allocator]
static ALLOCATOR: Allocator = Allocator {
    large: new_wasm_dynamic_allocator(),
    small: UnsafeCell::new(Lists {
        free: [null_mut(); LARGEST / ALIGNMENT_BYTES + 1],
        next: null_mut(),
        left: 0,
    }),
};

/// The list that a block belongs to, if it is small.
#[inline(always)]
fn class(layout: Layout) -> Option<usize> {
    (layout.size() <= LARGEST && layout.align() <= ALIGNMENT_BYTES)
        .then(|| layout.size().div_ceil(ALIGNMENT_BYTES))
}

impl Allocator {
    /// A block from the newest chunk, or from a new one.
    #[cold]
    unsafe fn cut(&self, class: usize) -> *mut u8 {
        let size = class * ALIGNMENT_BYTES;
        unsafe {
            let lists = &mut *self.small.get();
            if lists.left < size {
                let chunk = self.large.alloc(Layout::from_size_align_unchecked(CHUNK, ALIGNMENT_BYTES));
                if chunk.is_null() {
                    return chunk;
                }
                (lists.next, lists.left) = (chunk, CHUNK);
            }
            let block = lists.next;
            lists.next = block.add(size);
            lists.left -= size;
            block
        }
    }
}

unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        unsafe {
            let Some(class) = class(layout) else { return self.large.alloc(layout) };
            let first = &mut (*self.small.get()).free[class];
            let block = *first;
            if block.is_null() {
                return self.cut(class);
            }
            *first = *block.cast::<*mut u8>();
            block
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe {
            let Some(class) = class(layout) else { return self.large.dealloc(block, layout) };
            let first = &mut (*self.small.get()).free[class];
            *block.cast::<*mut u8>() = *first;
            *first = block;
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        unsafe {
            let wanted = Layout::from_size_align_unchecked(size, layout.align());
            match (class(layout), class(wanted)) {
                (Some(a), Some(b)) if a == b => return block,
                (None, None) => return self.large.realloc(block, layout, size),
                _ => {}
            }
            let moved = self.alloc(wanted);
            if !moved.is_null() {
                core::ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                self.dealloc(block, layout);
            }
            moved
        }
    }
}
