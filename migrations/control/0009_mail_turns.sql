-- The next mail of each workspace is looked up: however many are due, whoever sends the next one reads no more of them.

create index mail_queue_turns on control.mail_queue (of_app, workspace, next_attempt_at, id);
drop index control.mail_queue_next_attempt_at;
