-- platform-sync formula 1008
-- name: Latitude – label
SUM(1)
