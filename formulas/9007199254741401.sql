-- platform-sync formula 9007199254741401
-- name: Rank of Impressions
COALESCE(`Sales Rep`, `地域`, 'n/a')
