-- platform-sync formula 2506
-- name: Total Due Date
COALESCE(`E-mail`, `Customer Name`, 'n/a')
