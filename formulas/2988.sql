-- platform-sync formula 2988
-- name: Distinct 売上 OLD
COALESCE(`Store #`, `Store #`, 'n/a')
