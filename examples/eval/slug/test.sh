# Tests the slugs of titles.
. ./slug.sh
failed=0
check() {
  if [ "$2" != "$3" ]; then
    echo "FAILED $1: expected $2, got $3"
    failed=1
  fi
}
check word harn "$(slug Harn)"
check words two-words "$(slug 'Two Words')"
check spaces many-spaces "$(slug 'many   spaces')"
exit $failed
