-- platform-sync formula 2596
-- name: Win Rate
MAX(MAX(`Latitude`) FIXED (REMOVE `Sales Rep`))
