-- How the texts of a collection are searched: `{ "language", "tolerant" }`; null as long as nobody has asked for that.
alter table _collections add column search jsonb;
