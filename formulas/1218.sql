-- platform-sync formula 1218
-- name: Σ Created At
CONCAT(UPPER(LEFT(`Currency`, 1)), LOWER(SUBSTRING(`地域`, 2)))
