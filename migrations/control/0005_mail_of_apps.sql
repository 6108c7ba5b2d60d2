-- Mail that hooks of apps send waits behind the server's own: nobody's code to log in is late because of an app's letters.

alter table control.mail_queue add column of_app boolean not null default false;
