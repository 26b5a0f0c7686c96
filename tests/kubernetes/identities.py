"""Who may talk to a test cluster: its certificates, tokens and kubeconfigs."""

import base64
import secrets

from host import LOOPBACK, run_tool

USERS = ["operator", "loader", "counter", "node"]  # without any right until the caller grants some
MANAGER, SCHEDULER = "system:kube-controller-manager", "system:kube-scheduler"  # their rights are built in


def make_tokens():
    return {user: secrets.token_hex(16) for user in ["admin", *USERS, MANAGER, SCHEDULER]}


def write_all(cluster, tokens, service_cidr):
    """Fills DIR/pki and writes the token file and the kubeconfigs."""
    make_pki(cluster.pki, service_cidr)
    (cluster.directory / "tokens.csv").write_text("".join(
        f'{token},{user},{user},"{"system:masters" if user == "admin" else ""}"\n' for user, token in tokens.items()))
    for user, token in tokens.items():
        write_kubeconfig(cluster, user, {"token": token})
    add_certificate_user(cluster, "certuser")


def add_certificate_user(cluster, user, groups=()):
    """Tokens are fixed when the API server starts; a certificate makes a user at any time."""
    name = file_part(user)
    client_certificate(cluster.pki, name, user, groups)
    write_kubeconfig(cluster, user, {"client-certificate-data": encoded(cluster.pki / f"{name}.crt"),
                                     "client-key-data": encoded(cluster.pki / f"{name}.key")})


def make_pki(pki, service_cidr):
    pki.mkdir()
    certificate(pki, "ca", "/CN=muster-test-ca",
                ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign,digitalSignature"])
    names = [f"IP:{LOOPBACK}", "DNS:localhost", f"IP:{service_cidr[1]}", "DNS:kubernetes",
             "DNS:kubernetes.default", "DNS:kubernetes.default.svc", "DNS:kubernetes.default.svc.cluster.local"]
    certificate(pki, "apiserver", "/CN=kube-apiserver",
                ["basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature",
                 "extendedKeyUsage=serverAuth", "subjectAltName=" + ",".join(names)], signed_by="ca")
    client_certificate(pki, "kubelet-client", "kube-apiserver-kubelet-client")
    # In the old form: the API server reads the public half out of an EC key only from there.
    run_tool("openssl", "ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", str(pki / "service-account.key"))


def client_certificate(pki, name, user, groups=()):
    subject = "".join(f"/O={group}" for group in groups) + f"/CN={user}"
    certificate(pki, name, subject, ["basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature",
                                     "extendedKeyUsage=clientAuth"], signed_by="ca")


def certificate(pki, name, subject, extensions, signed_by=None):
    """Makes pki/NAME.key and pki/NAME.crt, signed by another certificate there or by itself."""
    argv = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-sha256", "-days", "3650", "-subj", subject,
            "-keyout", str(pki / f"{name}.key"), "-out", str(pki / f"{name}.crt")]
    if signed_by:
        argv += ["-CA", str(pki / f"{signed_by}.crt"), "-CAkey", str(pki / f"{signed_by}.key")]
    for extension in extensions:
        argv += ["-addext", extension]
    run_tool(*argv)


def write_kubeconfig(cluster, user, credentials):
    credentials = "".join(f"\n    {key}: {value}" for key, value in credentials.items())
    kubeconfig(cluster, user).write_text(f"""\
apiVersion: v1
kind: Config
clusters:
- name: muster-test
  cluster:
    server: {cluster.state["settings"]["api"]}
    certificate-authority-data: {encoded(cluster.pki / "ca.crt")}
users:
- name: {user}
  user:{credentials}
contexts:
- name: muster-test
  context:
    cluster: muster-test
    user: {user}
current-context: muster-test
""")


def kubeconfig(cluster, user):
    return cluster.directory / ("kubeconfig" if user == "admin" else "kubeconfig." + file_part(user))


def file_part(user):
    return user.replace(":", "-")  # KUBECONFIG is a list separated by colons


def encoded(path):
    return base64.b64encode(path.read_bytes()).decode()
