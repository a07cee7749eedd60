# SPDX-License-Identifier: Apache-2.0
two=--targets=unix:/a,unix:/b
for arguments in --role=boss --role=target "--role=target $two" "unix:/c --role=target $two --servers-key=k" \
    "--role=target $two --servers-key=k" "--role=catalogue --targets=host:0 --servers-key=k" \
    "--role=catalogue --targets=unix:/a,unix:/a --servers-key=k" "--role=catalogue --targets= --servers-key=k" \
    "--role=catalogue --targets=3 --servers-key=k" "--role=catalogue --servers-key=k $two --size=1G" \
    "--servers-key=k" "--role=target --job" "$two"; do
    status=0
    # shellcheck disable=SC2086 # words on purpose
    whyio serve --root=root $arguments || status=$?
    echo "$status $arguments"
done
printf '%064d\n' 7 >k
chmod 644 k
whyio serve --root=root --role=catalogue --servers-key=k $two || echo "$? the key can be read by others"
test -e root || echo "no root was made"
