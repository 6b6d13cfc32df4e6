//! `export_connector!`.

/// Makes a connector type the component's exports: exactly the named surfaces, each of which the type must implement.
/// Surfaces: `calendar`, `email`, `contacts`, `tasks`, and `lifecycle`.
#[macro_export]
macro_rules! export_connector {
    ($connector:ty, [$($surface:ident),+ $(,)?]) => {
        $($crate::export_surface!($surface, $connector);)+
    };
}

/// One surface of [`export_connector!`].
#[doc(hidden)]
#[macro_export]
macro_rules! export_surface {
    (calendar, $connector:ty) => {
        const _: () = {
            type Export = $crate::private::Guest<$connector>;
            $crate::private::calendar::export_calendar!(Export with_types_in $crate::private::calendar);
        };
    };
    (email, $connector:ty) => {
        const _: () = {
            type Export = $crate::private::Guest<$connector>;
            $crate::private::email::export_email!(Export with_types_in $crate::private::email);
        };
    };
    (contacts, $connector:ty) => {
        const _: () = {
            type Export = $crate::private::Guest<$connector>;
            $crate::private::contacts::export_contacts!(Export with_types_in $crate::private::contacts);
        };
    };
    (tasks, $connector:ty) => {
        const _: () = {
            type Export = $crate::private::Guest<$connector>;
            $crate::private::tasks::export_tasks!(Export with_types_in $crate::private::tasks);
        };
    };
    (lifecycle, $connector:ty) => {
        const _: () = {
            type Export = $crate::private::Guest<$connector>;
            $crate::private::lifecycle::export_lifecycle!(Export with_types_in $crate::private::lifecycle);
        };
    };
}
