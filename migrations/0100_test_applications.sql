-- Test applications: their keys begin with uc_test_ and reach the sandbox alone. Decided when an application is made.
alter table applications add column is_test bigint not null default 0;
