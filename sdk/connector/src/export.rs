//! `export_connector!`.

/// Makes a connector type the component's exports: exactly the named surfaces, each of which the type must implement.
/// Surfaces: `calendar`, `email`, `contacts`, `tasks`, `lifecycle`, and `watch`.
#[macro_export]
macro_rules! export_connector {
    ($connector:ty, [$($surface:ident),+ $(,)?]) => {
        $($crate::export_surface!($surface, $connector);)+
    };
}

/// One surface of [`export_connector!`]. Only a component exports: native linkers do not take the names (`a:b/c@1.0.0#d`), and a
/// native build has no host to export to. What a type must implement is checked everywhere.
#[doc(hidden)]
#[macro_export]
macro_rules! export_surface {
    (calendar, $connector:ty) => {
        $crate::export_surface!(Calendar, calendar, export_calendar, $connector);
    };
    (email, $connector:ty) => {
        $crate::export_surface!(Email, email, export_email, $connector);
    };
    (contacts, $connector:ty) => {
        $crate::export_surface!(Contacts, contacts, export_contacts, $connector);
    };
    (tasks, $connector:ty) => {
        $crate::export_surface!(Tasks, tasks, export_tasks, $connector);
    };
    (lifecycle, $connector:ty) => {
        $crate::export_surface!(Lifecycle, lifecycle, export_lifecycle, $connector);
    };
    (watch, $connector:ty) => {
        $crate::export_surface!(Watch, watch, export_watch, $connector);
    };
    ($implements:ident, $world:ident, $export:ident, $connector:ty) => {
        const _: () = {
            const fn implements<C: $crate::$implements>() {}
            implements::<$connector>();
        };
        $crate::export_world!($world, $export, $connector);
    };
}

#[cfg(not(feature = "unexported"))]
#[doc(hidden)]
#[macro_export]
macro_rules! export_world {
    ($world:ident, $export:ident, $connector:ty) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            type Export = $crate::private::Guest<$connector>;
    $crate::private::$world::$export!(Export with_types_in $crate::private::$world);
        };
    };
}

#[cfg(feature = "unexported")]
#[doc(hidden)]
#[macro_export]
macro_rules! export_world {
    ($world:ident, $export:ident, $connector:ty) => {};
}
