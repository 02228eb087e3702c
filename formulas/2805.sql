-- platform-sync formula 2805
-- name: Weighted Pipeline - DO NOT USE
TRIM(REPLACE(`Customer Name`, '  ', ' '))
