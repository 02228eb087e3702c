-- platform-sync formula 3791
-- name: Fälligkeit – label (copy)
MAX(MAX(`Score`) FIXED (REMOVE `SKU`))
