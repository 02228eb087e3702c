-- platform-sync formula 2754
-- name: Max Sales Rep - DO NOT USE
SUM(SUM(`Latitude`) FIXED (BY `地域`))
