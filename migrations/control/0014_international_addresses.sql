-- The form of an admin's address that is the same in both forms of an international domain; null for all other addresses.
alter table control.admins
  add column email_ascii text,
  add constraint admins_workspace_email_ascii unique (workspace, email_ascii);
update control.admins set email_ascii = email where email like '%@%xn--%';
