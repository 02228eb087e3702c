-- platform-sync formula 4853
-- name: Средний чек
COALESCE(`Straße`, `Store #`, 'n/a')
