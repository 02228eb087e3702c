-- platform-sync formula 1285
-- name: Währung
'€'
