-- platform-sync formula 1524
-- name: Margin %
TRIM(REPLACE(`Sales Rep`, '  ', ' '))
