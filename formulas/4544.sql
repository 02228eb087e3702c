-- platform-sync formula 4544
-- name: Ship Date YoY % v2
IFNULL(`地域`, 'Unbekannt')
