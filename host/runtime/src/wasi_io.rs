//! `wasi:io` with the meter stopped: WASI guests are not charged while they wait for the provider or until they may write. The
//! implementation is wasmtime's.

use wasmtime::component::{HasData, HasSelf, Linker, Resource, ResourceTable};
use wasmtime_wasi::p2::bindings::io::{error, poll, streams};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, DynPollable, StreamError, StreamResult};

use crate::state::{Cpu, State};

type In = Resource<DynInputStream>;
type Out = Resource<DynOutputStream>;
type Pollable = Resource<DynPollable>;

pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    error::add_to_linker::<State, HasSelf<ResourceTable>>(linker, |s| &mut s.table)?;
    poll::add_to_linker::<State, Io>(linker, MeteredIo::from_state)?;
    streams::add_to_linker::<State, Io>(linker, MeteredIo::from_state)
}

struct Io;

impl HasData for Io {
    type Data<'a> = MeteredIo<'a>;
}

struct MeteredIo<'a> {
    cpu: &'a Cpu,
    table: &'a mut ResourceTable,
}

impl MeteredIo<'_> {
    fn from_state(state: &mut State) -> MeteredIo<'_> {
        MeteredIo { cpu: &state.cpu, table: &mut state.table }
    }
}

/// Functions that delegate to the table's own: those that cannot wait, and those that can.
macro_rules! pass_on {
    ($of:path: $(fn $name:ident($($arg:ident: $type:ty),*) -> $answer:ty;)* $(async $waits:ident($($given:ident: $kind:ty),*) -> $result:ty;)*) => {
        $(fn $name(&mut self, $($arg: $type),*) -> $answer {
            use $of as Of;
            Of::$name(self.table, $($arg),*)
        })*
        $(async fn $waits(&mut self, $($given: $kind),*) -> $result {
            use $of as Of;
            self.cpu.idling(Of::$waits(self.table, $($given),*)).await
        })*
    };
}

impl poll::Host for MeteredIo<'_> {
    pass_on! { poll::Host:
        async poll(pollables: Vec<Pollable>) -> wasmtime::Result<Vec<u32>>;
    }
}

impl poll::HostPollable for MeteredIo<'_> {
    pass_on! { poll::HostPollable:
        fn drop(pollable: Pollable) -> wasmtime::Result<()>;
        async ready(pollable: Pollable) -> wasmtime::Result<bool>;
        async block(pollable: Pollable) -> wasmtime::Result<()>;
    }
}

impl streams::Host for MeteredIo<'_> {
    pass_on! { streams::Host:
        fn convert_stream_error(error: StreamError) -> wasmtime::Result<streams::StreamError>;
    }
}

impl streams::HostInputStream for MeteredIo<'_> {
    pass_on! { streams::HostInputStream:
        fn read(from: In, len: u64) -> StreamResult<Vec<u8>>;
        fn skip(from: In, len: u64) -> StreamResult<u64>;
        fn subscribe(from: In) -> wasmtime::Result<Pollable>;
        async blocking_read(from: In, len: u64) -> StreamResult<Vec<u8>>;
        async blocking_skip(from: In, len: u64) -> StreamResult<u64>;
        async drop(from: In) -> wasmtime::Result<()>;
    }
}

impl streams::HostOutputStream for MeteredIo<'_> {
    pass_on! { streams::HostOutputStream:
        fn check_write(to: Out) -> StreamResult<u64>;
        fn write(to: Out, bytes: Vec<u8>) -> StreamResult<()>;
        fn write_zeroes(to: Out, len: u64) -> StreamResult<()>;
        fn flush(to: Out) -> StreamResult<()>;
        fn splice(to: Out, from: In, len: u64) -> StreamResult<u64>;
        fn subscribe(to: Out) -> wasmtime::Result<Pollable>;
        async blocking_write_and_flush(to: Out, bytes: Vec<u8>) -> StreamResult<()>;
        async blocking_write_zeroes_and_flush(to: Out, len: u64) -> StreamResult<()>;
        async blocking_flush(to: Out) -> StreamResult<()>;
        async blocking_splice(to: Out, from: In, len: u64) -> StreamResult<u64>;
        async drop(to: Out) -> wasmtime::Result<()>;
    }
}
