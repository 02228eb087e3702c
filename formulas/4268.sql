-- platform-sync formula 4268
-- name: Rank of Sales Rep v2
MAX(MAX(`Cost`) FIXED (REMOVE `Straße`))
