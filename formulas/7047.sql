-- platform-sync formula 7047
-- name: Währung
'EMEA'
