# Tests the total of carts.
. ./cart.sh
failed=0
check() {
  if [ "$2" != "$3" ]; then
    echo "FAILED $1: expected $2, got $3"
    failed=1
  fi
}
check small 30 "$(total 10 20)"
check limit 90 "$(total 50 50)"
check large 180 "$(total 150 50)"
exit $failed
