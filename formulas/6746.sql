-- platform-sync formula 6746
-- name: Max Sales Rep
LENGTH(`地域`) - INSTR(`Sales Rep`, '@')
