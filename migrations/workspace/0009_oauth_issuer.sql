-- Who signs the ID tokens of a provider (OpenID Connect); null for one whose tokens are not looked at.

alter table workspace.oauth_providers add column issuer text;
