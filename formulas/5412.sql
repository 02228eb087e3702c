-- platform-sync formula 5412
-- name: Avg Segment
IFNULL(`Channel`, 'Unbekannt')
