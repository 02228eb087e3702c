-- platform-sync formula 1809
-- name: Is Late
DATEDIFF(CURRENT_DATE(), `Last Login`)
