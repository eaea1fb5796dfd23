from __future__ import annotations

import sys
import time

import torch

sys.path.insert(0,"src")
import ritz
from ritz.operators.device import kernel as OK

dev="cuda"
def data(n,D):
    torch.manual_seed(1); r=12
    X=(torch.randn(n,r,device=dev)*torch.linspace(3,.6,r,device=dev))@torch.randn(r,D,device=dev)/D**.5+.05*torch.randn(n,D,device=dev)
    s=torch.randint(0,n,(2000,),device=dev); return X,1/torch.pdist(X[s]).square().median().item()
orig=OK.DeviceKernel._matmat
def timed(self,V):
    torch.cuda.synchronize(); t=time.perf_counter(); out=orig(self,V); torch.cuda.synchronize()
    log.append((self.level[0]+str(V.shape[1]),round((time.perf_counter()-t)*1e3,1))); return out
OK.DeviceKernel._matmat=timed
found=OK.DeviceKernel._found
def f2(self,x): noises.append((self.level[0],f"{x:.2e}")); return found(self,x)
OK.DeviceKernel._found=f2
import cProfile
import pstats


def go(n,X,g,prof=False):
    global log,noises
    log=[];noises=[]; torch.cuda.synchronize(); t=time.perf_counter()
    pr=cProfile.Profile() if prof else None
    if pr: pr.enable()
    m=ritz.KernelPCA(32,kernel="rbf",gamma=g).fit(X); torch.cuda.synchronize(); t=time.perf_counter()-t
    if pr: pr.disable()
    c=m.certificate_; l=float(m.eigenvalues_[0])
    print(n,f"{t:.3f}s products {sum(x[1] for x in log)/1e3:.3f}s",*(f"{a}:{b}" for a,b in log),flush=True)
    print("  noises",[(a,f"{float(b)/l:.1e}") for a,b in noises])
    print(f"  residual {float(c.residuals.max())/l:.1e} width {float(c.width.max())/l:.1e} rounding {c.rounding/l:.1e} ceiling {c.ceiling:.1f} lam32 {m.eigenvalues_[-1]:.1f} labelled {c.labelled.sum()} {c.converged} {c.precision}",flush=True)
    if pr: pstats.Stats(pr).sort_stats("tottime").print_stats(14)
    return m
n=262144; X,g=data(n,64)
go(n,X,g); go(n,X,g,True)
n=1048576; X,g=data(n,64); go(n,X,g); go(n,X,g,True)
