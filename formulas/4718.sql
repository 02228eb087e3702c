-- platform-sync formula 4718
-- name: Größe
MAX(MAX(`Cost`) FIXED (REMOVE `Store #`))
