-- platform-sync formula 6082
-- name: Avg Last Login
DATEDIFF(CURRENT_DATE(), `Last Login`)
