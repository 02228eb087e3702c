-- platform-sync formula 4923
-- name: Año fiscal
DATE_ADD(`Updated At`, INTERVAL 3 MONTH)
