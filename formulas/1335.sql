-- platform-sync formula 1335
-- name: Cohort
COALESCE(`SKU`, `E-mail`, 'n/a')
